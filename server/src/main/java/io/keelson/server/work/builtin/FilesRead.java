package io.keelson.server.work.builtin;

import io.keelson.core.policy.Effects;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolPolicy;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** {@code files.read}: a part of a file, as UTF-8 text or base64. */
final class FilesRead implements Tool {

    private static final ToolSpec SPEC = Specs.spec("files.read", Effects.READ,
            "Reads a file, or a part of it, as text or base64.", """
            {"type": "object", "additionalProperties": false, "required": ["path"], "properties": {
              "path": {"type": "string", "minLength": 1},
              "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "in bytes"},
              "max_bytes": {"type": "integer", "minimum": 1, "maximum": 700000, "default": 262144},
              "encoding": {"enum": ["text", "base64"], "default": "text",
                           "description": "text: UTF-8, what is not valid becomes U+FFFD"}}}""", """
            {"type": "object", "required": ["path", "size", "offset", "bytes", "truncated", "encoding", "content"],
             "properties": {"path": {"type": "string"}, "size": {"type": "integer"}, "offset": {"type": "integer"},
              "bytes": {"type": "integer"}, "truncated": {"type": "boolean"}, "encoding": {"type": "string"},
              "content": {"type": "string"}}}""");

    private final ToolPolicy policy;

    FilesRead(ToolPolicy policy) {
        this.policy = policy;
    }

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure {
        JsonNode input = call.input();
        String path = input.get("path").stringValue();
        long offset = input.path("offset").asLong(0);
        String encoding = input.path("encoding").asString("text");
        AllowedFolders.Place place = AllowedFolders.of(policy, call).locate(path);
        Path name = place.relative().getFileName();
        try (OpenFolder folder = place.openParent()) {
            if (name.toString().isEmpty() || !folder.attributes(name).isRegularFile()) {
                throw ToolFailure.permanent("NOT_A_FILE", path + " is not a regular file");
            }
            try (SeekableByteChannel channel = folder.file(name)) {
                byte[] bytes = read(channel, offset, input.path("max_bytes").asInt(262_144));
                boolean more = offset + bytes.length < channel.size();
                byte[] kept = more && encoding.equals("text") ? wholeCharacters(bytes) : bytes;
                return ToolResult.of(JsonNodeFactory.instance.objectNode()
                        .put("path", path)
                        .put("size", channel.size())
                        .put("offset", offset)
                        .put("bytes", kept.length)
                        .put("truncated", more)
                        .put("encoding", encoding)
                        .put("content", encoding.equals("text")
                                ? new String(kept, StandardCharsets.UTF_8)
                                : Base64.getEncoder().encodeToString(kept)));
            }
        } catch (IOException e) {
            throw AllowedFolders.unusable(path, e);
        }
    }

    private static byte[] read(SeekableByteChannel channel, long offset, int max) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate((int) Math.clamp(channel.size() - offset, 0, max));
        channel.position(offset);
        while (buffer.hasRemaining() && channel.read(buffer) >= 0) {
            continue;
        }
        return Arrays.copyOf(buffer.array(), buffer.position());
    }

    /** Without the begun last character, which the next part starts with. */
    private static byte[] wholeCharacters(byte[] bytes) {
        int start = bytes.length - 1;
        while (start > 0 && bytes.length - start < 4 && (bytes[start] & 0xC0) == 0x80) {
            start--;
        }
        int lead = start < 0 ? 0 : bytes[start] & 0xFF;
        int length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
        return start > 0 && start + length > bytes.length ? Arrays.copyOf(bytes, start) : bytes;
    }
}
