package io.keelson.server.engine.dispatch;

import io.keelson.api.worker.Completion;
import io.keelson.core.run.NewArtifact;
import io.keelson.server.base.artifact.ArtifactOwner;
import io.keelson.server.base.artifact.ArtifactRefusedException;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.commit.Store;
import io.keelson.server.engine.execute.ArtifactIntake;
import io.keelson.server.engine.execute.Scopes;
import io.keelson.server.engine.store.read.StepWorkReader;
import io.keelson.server.engine.store.read.StepWorkReader.StepWork;
import io.keelson.server.engine.store.retention.UploadSlots;
import io.keelson.server.engine.store.retention.Uploads;
import io.keelson.server.tenant.secret.Redaction;
import java.io.IOException;
import java.io.InputStream;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * Receives files that workers stream to the server while they work on a step. Stores the bytes first, then a record for
 * the step's result; removes uploads without a result after a day.
 */
final class ArtifactUploads {
    private final Database database;
    private final StepWorkReader work;
    private final Uploads uploads;
    private final Scopes scopes;
    private final ArtifactIntake intake;
    private final UploadSlots slots;
    private final Supplier<UUID> ids;

    ArtifactUploads(Database database, Store store, Scopes scopes, ArtifactIntake intake, Supplier<UUID> ids) {
        this.database = database;
        this.work = store.work();
        this.uploads = store.uploads();
        this.scopes = scopes;
        this.intake = intake;
        this.slots = store.slots();
        this.ids = ids;
    }

    Upload.Reply take(UUID workspace, String worker, Upload upload, InputStream content) throws IOException {
        StepWork step = database.withConnection(c -> work.work(c, List.of(upload.stepId()))).get(upload.stepId());
        if (step == null || !step.workspaceId().equals(workspace)) {
            return new Upload.Reply.NoStep();
        }
        if (step.leaseEpoch() != upload.leaseEpoch() || !worker.equals(step.holder())) {
            return new Upload.Reply.StaleLease();
        }
        try (UploadSlot slot = new UploadSlot(database, slots, workspace)) {
            return store(upload, step, slot.keptBy(content));
        }
    }

    private Upload.Reply store(Upload upload, StepWork step, InputStream content) throws IOException {
        UUID workspace = step.workspaceId();
        Redaction redaction = scopes.redaction(workspace, step.input());
        DigestInputStream sent = new DigestInputStream(content, sha256());
        StoredArtifact stored = intake.take(
                new ArtifactOwner(workspace, step.runId(), step.stepId(), step.attempt(), step.leaseEpoch()),
                redaction.text(upload.name()), redaction.text(upload.contentType()), redaction.stream(sent),
                upload.announced())
                .keptFor(upload.retention());
        boolean noted = false;
        try {
            check(upload, HexFormat.of().formatHex(sent.getMessageDigest().digest()));
            UUID id = ids.get();
            Duration retention = stored.retention();
            NewArtifact artifact = new NewArtifact(stored.name(), stored.contentType(), stored.sizeBytes(),
                    stored.sha256(), stored.storageKey(), retention == null ? null : retention.toSeconds());
            database.runInTransaction(c -> uploads.add(c, id, workspace,
                    new Uploads.Uploaded(step.stepId(), step.leaseEpoch(), artifact)));
            noted = true;
            return new Upload.Reply.Stored(id, stored);
        } finally {
            if (!noted) {
                intake.discard(stored.storageKey());
            }
        }
    }

    private static void check(Upload upload, String hash) throws ArtifactRefusedException {
        if (upload.sha256() != null && !upload.sha256().equalsIgnoreCase(hash)) {
            throw new ArtifactRefusedException("ARTIFACT_HASH_MISMATCH",
                    "what arrived has the SHA-256 " + hash + "; nothing was stored");
        }
    }

    /** The uploads with those ids. */
    Map<UUID, Uploads.Uploaded> find(UUID workspace, Collection<UUID> ids) {
        return ids.isEmpty() ? Map.of() : database.withConnection(c -> uploads.find(c, workspace, ids));
    }

    /**
     * The artifacts of a result.
     *
     * @throws ArtifactRefusedException where one was not uploaded in that execution, or is named twice
     */
    static List<NewArtifact> named(Map<UUID, Uploads.Uploaded> known, Completion item)
            throws ArtifactRefusedException {
        List<NewArtifact> artifacts = new ArrayList<>();
        Set<UUID> seen = new HashSet<>();
        for (Completion.Upload named : item.uploads()) {
            UUID id = named.uploadId();
            Uploads.Uploaded upload = known.get(id);
            if (upload == null || !upload.stepId().equals(item.stepId()) || upload.leaseEpoch() != item.leaseEpoch()
                    || !seen.add(id)) {
                throw new ArtifactRefusedException("ARTIFACT_UPLOAD_UNKNOWN",
                        "the execution has no upload " + id + ", or named it already");
            }
            artifacts.add(upload.artifact());
        }
        return artifacts;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
