package com.example.imports;

/**
 * @param source path of a CSV file with the columns id, email and amount
 * @param chunkSize rows that are imported at once
 */
public record ImportRequest(String source, int chunkSize) {}
