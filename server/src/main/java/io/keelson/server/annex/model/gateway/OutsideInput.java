package io.keelson.server.annex.model.gateway;

import java.util.Set;
import tools.jackson.databind.JsonNode;

/** Input that a provider reads although the body only refers to it: earlier responses, files, documents and images at an address. */
final class OutsideInput {
    private static final Set<String> MEMBERS = Set.of("previous_response_id", "conversation", "prompt", "container");
    private static final Set<String> TYPES =
            Set.of("item_reference", "input_file", "file", "document", "container_upload");
    private static final Set<String> IMAGES = Set.of("image_url", "input_image", "image");

    private OutsideInput() {}

    /** Whether the request may use more tokens than its body has bytes. */
    static boolean isIn(JsonNode body) {
        return MEMBERS.stream().anyMatch(body::hasNonNull) || refers(body.path("messages"))
                || refers(body.path("input"));
    }

    private static boolean refers(JsonNode value) {
        String type = value.path("type").asString("");
        return TYPES.contains(type) || IMAGES.contains(type) && !isWithin(value)
                || value.valueStream().anyMatch(OutsideInput::refers);
    }

    private static boolean isWithin(JsonNode image) {
        return image.path("image_url").asString("").startsWith("data:")
                || image.at("/image_url/url").asString("").startsWith("data:")
                || image.at("/source/type").asString("").equals("base64");
    }
}
