package io.keelson.api.run;

import io.keelson.api.Shape.Id;

/**
 * The step whose result was taken over. Its run may be deleted or archived by now.
 *
 * @param runId run that computed the result
 * @param taskId its task
 * @param stepId its step
 */
public record ResultSource(@Id String runId, @Id String taskId, @Id String stepId) {}
