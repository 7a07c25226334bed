package com.example.imports;

import io.temporal.failure.ApplicationFailure;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Rows of a CSV file, after its header. */
final class RowReader implements AutoCloseable {
  private final BufferedReader reader;

  private RowReader(BufferedReader reader) {
    this.reader = reader;
  }

  static RowReader open(String source) throws IOException {
    try {
      BufferedReader reader = Files.newBufferedReader(Path.of(source));
      reader.readLine();
      return new RowReader(reader);
    } catch (NoSuchFileException e) {
      throw ApplicationFailure.newNonRetryableFailure("No such file: " + source, "NoSuchFile");
    }
  }

  static int count(String source) throws IOException {
    try (RowReader rows = open(source)) {
      return (int) rows.reader.lines().count();
    }
  }

  /** Reads up to {@code limit} rows: fewer at the end, and then none. */
  List<String> read(int limit) throws IOException {
    List<String> rows = new ArrayList<>();
    String row;
    while (rows.size() < limit && (row = reader.readLine()) != null) {
      rows.add(row);
    }
    return rows;
  }

  @Override
  public void close() throws IOException {
    reader.close();
  }
}
