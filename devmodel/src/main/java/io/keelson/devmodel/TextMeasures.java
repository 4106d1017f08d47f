package io.keelson.devmodel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.SplittableRandom;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Vectors of texts (OpenAI) and counts of tokens (Anthropic), which no script decides. */
final class TextMeasures {
    static final String EMBEDDINGS = "/v1/embeddings";
    static final String TOKENS = "/v1/messages/count_tokens";
    private static final int DIMENSIONS = 8;
    private static final int MAX_DIMENSIONS = 4_096;

    private TextMeasures() {}

    /** The billed tokens of a request. */
    static BilledTokens billed(String path, int bodyBytes) {
        return path.equals(TOKENS) ? BilledTokens.NONE
                : BilledTokens.of(Json.object().put("output", 0), bodyBytes, "");
    }

    /** @throws BadRequestException where the provider refuses the request, too */
    static ObjectNode of(String path, byte[] bytes) throws BadRequestException {
        JsonNode body = Json.read(bytes);
        if (path.equals(TOKENS)) {
            if (body.path("messages").isEmpty()) {
                throw new BadRequestException("'messages' must be a list with at least one message");
            }
            return Json.object().put("input_tokens", BilledTokens.of(Json.object(), bytes.length, "").input());
        }
        JsonNode input = body.path("input");
        List<JsonNode> texts = input.isArray() && !input.path(0).isNumber() ? input.valueStream().toList()
                : List.of(input);
        if (input.isMissingNode() || texts.isEmpty()) {
            throw new BadRequestException("'input' must be a text, or a list with at least one");
        }
        ObjectNode answer = Json.object().put("object", "list");
        ArrayNode data = answer.putArray("data");
        int size = Math.clamp(body.path("dimensions").asInt(DIMENSIONS), 1, MAX_DIMENSIONS);
        for (JsonNode text : texts) {
            ObjectNode one = data.addObject().put("object", "embedding").put("index", data.size() - 1);
            float[] vector = vector(text.toString(), size);
            if (body.path("encoding_format").asString("float").equals("base64")) {
                one.put("embedding", base64(vector));
            } else {
                ArrayNode numbers = one.putArray("embedding");
                for (float number : vector) {
                    numbers.add(number);
                }
            }
        }
        long tokens = billed(path, bytes.length).input();
        answer.put("model", body.path("model").asString("")).putObject("usage").put("prompt_tokens", tokens)
                .put("total_tokens", tokens);
        return answer;
    }

    /** Equal for equal texts; of length 1. */
    private static float[] vector(String text, int size) {
        SplittableRandom random = new SplittableRandom(text.hashCode());
        double[] raw = random.doubles(size, -1, 1).toArray();
        double length = 0;
        for (double part : raw) {
            length += part * part;
        }
        float[] vector = new float[size];
        for (int i = 0; i < size; i++) {
            vector[i] = (float) (raw[i] / Math.sqrt(length));
        }
        return vector;
    }

    private static String base64(float[] vector) {
        ByteBuffer bytes = ByteBuffer.allocate(vector.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (float number : vector) {
            bytes.putFloat(number);
        }
        return new String(Base64.getEncoder().encode(bytes.array()), StandardCharsets.US_ASCII);
    }
}
