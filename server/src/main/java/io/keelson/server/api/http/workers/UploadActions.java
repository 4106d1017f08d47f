package io.keelson.server.api.http.workers;

import io.keelson.api.tenant.LimitName;
import io.keelson.api.worker.UploadedArtifact;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.artifact.ArtifactRefusedException;
import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.artifact.StoreBusyException;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.dispatch.RemoteDispatch;
import io.keelson.server.engine.dispatch.Upload;
import io.keelson.server.tenant.auth.Scope;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Artifacts of any size that workers send: the body goes to the store as it comes, never whole in memory. */
public final class UploadActions {

    private static final String STORAGE_RETRY_SECONDS = "60";
    private static final String RETRY_SECONDS = "2";

    private final RemoteDispatch work;
    private final ArtifactStore store;

    public UploadActions(RemoteDispatch work, ArtifactStore store) {
        this.work = work;
        this.store = store;
    }

    public void addTo(Route.Table table) {
        table.postRaw(Scope.WORK, "/dispatch/artifacts", this::upload);
    }

    private ApiResponse upload(ApiRequest request) throws IOException {
        Query query = request.query();
        String worker = Objects.requireNonNull(query.text("worker_id"));
        UUID step = Objects.requireNonNull(query.id("step_id"));
        long days = query.integer("retention_days", 0);
        String type = request.header("Content-Type");
        Upload upload = new Upload(step, (int) query.integer("lease_epoch", 0),
                Objects.requireNonNull(query.text("name")), type == null ? "application/octet-stream" : type,
                days == 0 ? null : Duration.ofDays(days), query.text("sha256"), Math.max(0, request.contentLength()));
        if (upload.announced() > store.maxBytes()) {
            throw ApiProblem.of(ErrorCode.ARTIFACT_TOO_LARGE, "an artifact has at most " + store.maxBytes()
                    + " bytes; nothing was stored");
        }
        return answer(step, store(request, worker, upload));
    }

    private Upload.Reply store(ApiRequest request, String worker, Upload upload) throws IOException {
        Incoming content = new Incoming(request.stream());
        try {
            return work.upload(request.workspace(), worker, upload, content);
        } catch (ArtifactRefusedException e) {
            throw refused(ErrorCode.valueOf(e.code()), String.valueOf(e.getMessage()));
        } catch (StoreBusyException e) {
            throw refused(ErrorCode.UPLOAD_LIMIT_REACHED, String.valueOf(e.getMessage()));
        } catch (IOException e) {
            if (content.failure != null) {
                throw content.failure;
            }
            throw ApiProblem.of(ErrorCode.ARTIFACT_STORE_FAILED, "the artifact could not be stored: " + e.getMessage())
                    .header("Retry-After", RETRY_SECONDS);
        }
    }

    private static ApiProblem refused(ErrorCode code, String message) {
        ApiProblem problem = ApiProblem.of(code, message);
        if (code == ErrorCode.UPLOAD_LIMIT_REACHED || code == ErrorCode.UPLOAD_TOO_SLOW) {
            return problem.header("Retry-After", RETRY_SECONDS);
        }
        return code == ErrorCode.STORAGE_LIMIT_REACHED
                ? problem.with("limit", LimitName.STORAGE_BYTES.text()).header("Retry-After", STORAGE_RETRY_SECONDS)
                : problem;
    }

    private static ApiResponse answer(UUID step, Upload.Reply reply) {
        return switch (reply) {
            case Upload.Reply.NoStep none -> throw IdKind.STEP.notFound(step);
            case Upload.Reply.StaleLease stale -> throw ApiProblem.of(ErrorCode.STALE_LEASE,
                    "this worker does not hold the lease: stop working on the step; nothing was stored");
            case Upload.Reply.Stored(UUID id, StoredArtifact stored) -> ApiResponse.json(201,
                    Json.document(new UploadedArtifact(id.toString(), stored.name(), stored.contentType(),
                            stored.sizeBytes(), stored.sha256())));
        };
    }

    /** Remembers whether it was the request that broke off, and not the store. */
    private static final class Incoming extends FilterInputStream {
        private @Nullable IOException failure;

        Incoming(InputStream body) {
            super(body);
        }

        @Override
        public int read() throws IOException {
            try {
                return super.read();
            } catch (IOException e) {
                failure = e;
                throw e;
            }
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            try {
                return super.read(bytes, from, length);
            } catch (IOException e) {
                failure = e;
                throw e;
            }
        }
    }
}
