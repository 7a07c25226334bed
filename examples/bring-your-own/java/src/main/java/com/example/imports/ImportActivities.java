package com.example.imports;

import io.temporal.activity.ActivityInterface;

@ActivityInterface
public interface ImportActivities {
  /**
   * Imports the valid rows. A retry continues after the rows of the last heartbeat. A cancelled
   * import returns what it has imported.
   */
  ImportResult importFile(ImportRequest request);
}
