package com.example.imports;

import java.util.List;

/**
 * @param rejectedLines numbers of the rejected lines in the source; the header is line 1
 * @param cancelled whether the import was cancelled before it reached the end
 */
public record ImportResult(
    int imported, int rejected, List<Integer> rejectedLines, boolean cancelled) {}
