package io.keelson.client.worker;

import io.keelson.api.worker.Completion;
import io.keelson.api.worker.NewProposal;
import io.keelson.client.Json;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Files and proposals of a result. */
final class ResultAttachments {

    private static final int MAX_ARTIFACT_BYTES = 1 << 20;
    private static final int MAX_TOTAL_BYTES = 8 << 20;

    private final List<Completion.InlineArtifact> artifacts = new ArrayList<>();
    private final List<NewProposal> proposals = new ArrayList<>();
    private final List<Completion.Upload> uploads = new ArrayList<>();
    private int bytes;

    /** Files and proposals at one time. */
    record Taken(List<Completion.InlineArtifact> artifacts, List<NewProposal> proposals,
            List<Completion.Upload> uploads) {}

    synchronized void artifact(String name, String contentType, byte[] content) {
        if (content.length > MAX_ARTIFACT_BYTES) {
            throw new IllegalArgumentException("artifact " + name + " has " + content.length + " bytes; at most "
                    + MAX_ARTIFACT_BYTES + " are allowed");
        }
        if (bytes + content.length > MAX_TOTAL_BYTES) {
            throw new IllegalArgumentException(
                    "with " + name + " the step's artifacts exceed " + MAX_TOTAL_BYTES + " bytes together");
        }
        bytes += content.length;
        artifacts.add(
                new Completion.InlineArtifact(name, contentType, Base64.getEncoder().encodeToString(content)));
    }

    synchronized void upload(UUID id) {
        uploads.add(new Completion.Upload(id));
    }

    synchronized void propose(String title, @Nullable String text, @Nullable Object data) {
        proposals.add(new NewProposal(title, text, data == null ? null : Json.of(data), null));
    }

    synchronized Taken take() {
        return new Taken(List.copyOf(artifacts), List.copyOf(proposals), List.copyOf(uploads));
    }
}
