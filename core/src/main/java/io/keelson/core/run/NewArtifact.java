package io.keelson.core.run;

/**
 * An artifact whose content is already stored and whose record is to be written with the step's result.
 *
 * @param name unique per run attempt
 * @param sizeBytes length of the content
 * @param sha256 lower-case hex
 * @param storageKey where the artifact store keeps the content
 */
public record NewArtifact(String name, String contentType, long sizeBytes, String sha256, String storageKey) {}
