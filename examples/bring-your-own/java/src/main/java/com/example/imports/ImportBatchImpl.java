package com.example.imports;

import io.temporal.activity.ActivityCancellationType;
import io.temporal.activity.ActivityOptions;
import io.temporal.common.RetryOptions;
import io.temporal.workflow.Workflow;
import java.time.Duration;

public class ImportBatchImpl implements ImportBatch {
  private final ImportActivities activities =
      Workflow.newActivityStub(
          ImportActivities.class,
          ActivityOptions.newBuilder()
              .setStartToCloseTimeout(Duration.ofHours(4))
              .setHeartbeatTimeout(Duration.ofSeconds(10))
              // Nothing is imported any more once the workflow has ended.
              .setCancellationType(ActivityCancellationType.WAIT_CANCELLATION_COMPLETED)
              .setRetryOptions(RetryOptions.newBuilder().setMaximumAttempts(10).build())
              .build());

  @Override
  public ImportResult run(ImportRequest request) {
    return activities.importFile(request);
  }
}
