package com.example.imports;

import io.temporal.activity.Activity;
import io.temporal.activity.ActivityExecutionContext;
import io.temporal.client.ActivityCanceledException;
import io.temporal.failure.ApplicationFailure;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;

/** Imports into a file of the workflow's ID. */
public class ImportActivitiesImpl implements ImportActivities {
  private final Path folder;
  private final Duration chunkDuration;

  public ImportActivitiesImpl(Path folder, Duration chunkDuration) {
    this.folder = folder;
    this.chunkDuration = chunkDuration;
  }

  @Override
  public ImportResult importFile(ImportRequest request) {
    if (request.chunkSize() < 1) {
      throw ApplicationFailure.newNonRetryableFailure("chunkSize must be positive", "BadRequest");
    }
    ActivityExecutionContext context = Activity.getExecutionContext();
    int done = context.getHeartbeatDetails(Progress.class).map(Progress::rows).orElse(0);
    Tally tally = new Tally();
    try (RowReader reader = RowReader.open(request.source())) {
      int total = RowReader.count(request.source());
      reader.read(done).forEach(tally::add);
      try (BufferedWriter out = openTarget(tally.imported())) {
        for (List<String> rows = reader.read(request.chunkSize());
            !rows.isEmpty();
            rows = reader.read(request.chunkSize())) {
          for (String row : rows) {
            if (tally.add(row)) {
              out.write(row + "\n");
            }
          }
          out.flush();
          done += rows.size();
          context.heartbeat(new Progress(done, total));
          Thread.sleep(chunkDuration.toMillis());
        }
      }
      return tally.result(false);
    } catch (ActivityCanceledException e) {
      return tally.result(true);
    } catch (IOException | InterruptedException e) {
      throw Activity.wrap(e);
    }
  }

  /** Rows that were written after the last heartbeat are dropped: they are imported again. */
  private BufferedWriter openTarget(int rowsToKeep) throws IOException {
    Files.createDirectories(folder);
    List<String> kept = linesOf(target()).stream().limit(rowsToKeep).toList();
    Files.write(target(), kept);
    return Files.newBufferedWriter(target(), StandardOpenOption.APPEND);
  }

  private Path target() {
    return folder.resolve(Activity.getExecutionContext().getInfo().getWorkflowId() + ".csv");
  }

  private static List<String> linesOf(Path file) throws IOException {
    return Files.exists(file) ? Files.readAllLines(file) : List.of();
  }
}
