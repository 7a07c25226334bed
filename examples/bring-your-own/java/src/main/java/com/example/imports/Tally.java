package com.example.imports;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Checks rows and counts them. */
final class Tally {
  private static final Pattern ROW =
      Pattern.compile("[^,]+,[^,@\\s]+@[^,@\\s]+\\.[^,@\\s]+,\\d+(\\.\\d{1,2})?");

  private final List<Integer> rejectedLines = new ArrayList<>();
  private int line = 1;
  private int imported = 0;

  /** Returns whether the row is valid: an ID, an email address and an amount. */
  boolean add(String row) {
    line++;
    if (!ROW.matcher(row).matches()) {
      rejectedLines.add(line);
      return false;
    }
    imported++;
    return true;
  }

  int imported() {
    return imported;
  }

  ImportResult result(boolean cancelled) {
    return new ImportResult(imported, rejectedLines.size(), List.copyOf(rejectedLines), cancelled);
  }
}
