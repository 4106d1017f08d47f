package io.keelson.client.worker;

import io.keelson.api.money.TokenUsage;
import io.keelson.client.Json;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The parts of a result besides its output: artifacts and usage. */
final class ResultAttachments {

    private static final int MAX_ARTIFACT_BYTES = 1 << 20;
    private static final int MAX_TOTAL_BYTES = 8 << 20;
    private static final int COST_SCALE = 6;

    private static final List<String> USAGE = List.of("tokens", "cost", "model", "usage");

    private final ObjectNode body = Json.object();
    private int bytes;

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
        body.withArrayProperty("artifacts").addObject()
                .put("name", name)
                .put("content_type", contentType)
                .put("content_base64", Base64.getEncoder().encodeToString(content));
    }

    synchronized void upload(String id) {
        body.withArrayProperty("uploads").addObject().put("upload_id", id);
    }

    synchronized void propose(String title, @Nullable String text, @Nullable Object data) {
        ObjectNode proposal = body.withArrayProperty("proposals").addObject().put("title", title).put("body", text);
        if (data != null) {
            proposal.set("data", Json.of(data));
        }
    }

    synchronized void usage(long tokens, BigDecimal cost) {
        body.remove(List.of("model", "usage"));
        body.put("tokens", tokens).put("cost", cost.setScale(COST_SCALE, RoundingMode.HALF_UP));
    }

    synchronized void usage(String model, long tokens) {
        body.remove(List.of("cost", "usage"));
        body.put("tokens", tokens).put("model", model);
    }

    synchronized void usage(String model, TokenUsage tokens) {
        body.remove(List.of("cost", "tokens"));
        body.put("model", model).set("usage", Json.document(tokens));
    }

    /** The members of the reported usage; empty if absent. */
    synchronized ObjectNode usage() {
        return body.deepCopy().retain(USAGE);
    }

    synchronized ObjectNode take() {
        return body.deepCopy();
    }
}
