package com.example.imports;

/** Details of a heartbeat: rows that are done, of a total. */
public record Progress(int rows, int total) {}
