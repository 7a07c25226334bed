package com.example.imports;

import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;

@WorkflowInterface
public interface ImportBatch {
  @WorkflowMethod
  ImportResult run(ImportRequest request);
}
