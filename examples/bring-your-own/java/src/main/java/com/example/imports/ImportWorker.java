package com.example.imports;

import io.temporal.client.WorkflowClient;
import io.temporal.envconfig.ClientConfigProfile;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.worker.Worker;
import io.temporal.worker.WorkerFactory;
import io.temporal.worker.WorkerOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;

public final class ImportWorker {
  public static void main(String[] args) throws IOException {
    Map<String, String> env = System.getenv();
    double stepSeconds = Double.parseDouble(env.getOrDefault("STEP_SECONDS", "0.5"));
    Path folder = Path.of(env.getOrDefault("IMPORT_FOLDER", "imported"));

    ClientConfigProfile profile = ClientConfigProfile.load();
    WorkflowServiceStubs service =
        WorkflowServiceStubs.newServiceStubs(profile.toWorkflowServiceStubsOptions());
    WorkflowClient client =
        WorkflowClient.newInstance(service, profile.toWorkflowClientOptions());
    WorkerFactory factory = WorkerFactory.newInstance(client);
    Worker worker =
        factory.newWorker(
            env.getOrDefault("TASK_QUEUE", "imports"),
            WorkerOptions.newBuilder()
                // Cancellations reach a running import within a second.
                .setMaxHeartbeatThrottleInterval(Duration.ofSeconds(1))
                // On a busy machine, a new process takes more than a second to load its classes.
                .setDefaultDeadlockDetectionTimeout(5_000)
                .build());
    worker.registerWorkflowImplementationTypes(ImportBatchImpl.class);
    worker.registerActivitiesImplementations(
        new ImportActivitiesImpl(folder, Duration.ofMillis((long) (stepSeconds * 1000))));
    factory.start();

    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(factory)));
  }

  /** An import that is under way is interrupted, and retried by another worker. */
  private static void stop(WorkerFactory factory) {
    factory.shutdownNow();
    factory.awaitTermination(10, TimeUnit.SECONDS);
  }
}
