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
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code files.list}: the content of a folder, with sizes as {@code find -printf %s} and lines as {@code wc -l}, and a
 * summary over the whole folder, however many entries are returned.
 */
final class FilesList implements Tool {

    private static final ToolSpec SPEC = Specs.spec("files.list", Effects.READ,
            "Lists a folder: paths, types, sizes, on request lines and languages, with totals over everything found. "
                    + "Hidden files count; symbolic links are reported and not followed.",
            Duration.ofSeconds(120), """
            {"type": "object", "additionalProperties": false, "properties": {
              "path": {"type": "string", "default": ".", "description": "a folder or a file in an allowed folder"},
              "recursive": {"type": "boolean", "default": false},
              "max_depth": {"type": "integer", "minimum": 1, "maximum": 100, "default": 64},
              "glob": {"$ref": "#/$defs/globs", "description": "only files that match one; folders are then left out"},
              "exclude": {"$ref": "#/$defs/globs", "default": [".git"], "description": "neither listed nor entered"},
              "lines": {"type": "boolean", "default": false, "description": "count lines, see which files are binary"},
              "entries": {"type": "boolean", "default": true, "description": "false: the summary only"},
              "max_entries": {"type": "integer", "minimum": 0, "maximum": 100000, "default": 5000},
              "top": {"type": "integer", "minimum": 0, "maximum": 1000, "default": 20,
                      "description": "how many of the largest and longest files the summary names"}},
             "$defs": {"glob": {"type": "string", "maxLength": 1000},
                       "globs": {"oneOf": [{"$ref": "#/$defs/glob"},
                                           {"type": "array", "items": {"$ref": "#/$defs/glob"}, "maxItems": 100}]}}}""", """
            {"type": "object", "required": ["path", "entries", "truncated", "summary"], "properties": {
              "path": {"type": "string"}, "truncated": {"type": "boolean"},
              "entries": {"type": "array", "items": {"type": "object", "required": ["path", "location", "type", "size"],
                "properties": {"path": {"type": "string", "description": "below the listed folder"},
                  "location": {"type": "string", "description": "the path for files.read and other tools"}, "size": {"type": "integer"},
                  "type": {"enum": ["file", "directory", "symlink", "other"]},
                  "lines": {"type": "integer"}, "binary": {"type": "boolean"}, "language": {"type": "string"}}}},
              "summary": {"type": "object", "required": ["files", "directories", "symlinks", "bytes"]}}}""");

    private static final List<Glob> NO_GLOBS = List.of();
    private static final int BINARY_PROBE = 8_000;

    private final ToolPolicy policy;

    FilesList(ToolPolicy policy) {
        this.policy = policy;
    }

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure, InterruptedException {
        String path = call.input().path("path").asString(".");
        Listing listing = new Listing(call.input(), path);
        walk(call.input()).visit(AllowedFolders.of(policy, call).locate(path), listing);
        ObjectNode output = JsonNodeFactory.instance.objectNode().put("path", path);
        output.set("entries", listing.entries);
        output.put("truncated", listing.truncated);
        output.set("summary", listing.summary.toJson());
        return ToolResult.of(output);
    }

    /** The walk a call's {@code recursive}, {@code max_depth} and {@code exclude} ask for. */
    private static FileWalk walk(JsonNode input) throws ToolFailure {
        return new FileWalk(input.path("recursive").asBoolean(false), input.path("max_depth").asInt(64),
                excluded(input));
    }

    static List<Glob> excluded(JsonNode input) throws ToolFailure {
        return Glob.all(input.has("exclude") ? input.get("exclude") : Specs.json("\".git\""));
    }

    private static final class Listing implements FileWalk.Visitor {
        private final String listed;
        private final List<Glob> globs;
        private final boolean lines;
        private final int maxEntries;
        private final ArrayNode entries = JsonNodeFactory.instance.arrayNode();
        private final FileSummary summary;
        private boolean truncated;

        private Listing(JsonNode input, String path) throws ToolFailure {
            listed = path.equals(".") ? "" : path;
            globs = input.has("glob") ? Glob.all(input.get("glob")) : NO_GLOBS;
            lines = input.path("lines").asBoolean(false);
            maxEntries = input.path("entries").asBoolean(true) ? input.path("max_entries").asInt(5000) : 0;
            truncated = false;
            summary = new FileSummary(lines, input.path("top").asInt(20));
        }

        @Override
        public void found(FileWalk.Found found) throws InterruptedException {
            boolean file = found.attributes().isRegularFile();
            if (!globs.isEmpty() && !(file && Glob.any(globs, found.path()))) {
                return;
            }
            if (!file) {
                summary.other(found.type());
                add(found, null);
                return;
            }
            FileFacts facts =
                    new FileFacts(found.path(), found.attributes().size(), Languages.of(found.path()), 0, false);
            try {
                facts = lines ? read(found, facts) : facts;
            } catch (IOException e) {
                unreadable(found.path());
            }
            summary.file(facts);
            add(found, facts);
        }

        @Override
        public void unreadable(String path) {
            summary.unreadable(path);
        }

        private void add(FileWalk.Found found, @Nullable FileFacts facts) {
            if (entries.size() >= maxEntries) {
                truncated = true;
                return;
            }
            ObjectNode entry = entries.addObject().put("path", found.path())
                    .put("location",
                            found.whole() ? listed
                                    : listed + (listed.isEmpty() || listed.endsWith("/") ? "" : "/")
                                            + found.path())
                    .put("type", found.type())
                    .put("size", found.attributes().size());
            if (facts != null && facts.language() != null) {
                entry.put("language", facts.language());
            }
            if (facts != null && lines) {
                entry.put("lines", facts.lines()).put("binary", facts.binary());
            }
        }

        private static FileFacts read(FileWalk.Found found, FileFacts facts) throws IOException, InterruptedException {
            ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
            long newlines = 0;
            long seen = 0;
            boolean binary = false;
            try (SeekableByteChannel channel = found.open()) {
                while (channel.read(buffer.clear()) >= 0) {
                    byte[] bytes = buffer.array();
                    for (int i = 0; i < buffer.position(); i++) {
                        newlines += bytes[i] == '\n' ? 1 : 0;
                        binary |= bytes[i] == 0 && seen + i < BINARY_PROBE;
                    }
                    seen += buffer.position();
                    if (Thread.interrupted()) {
                        throw new InterruptedException("the listing was interrupted");
                    }
                }
            }
            return new FileFacts(facts.path(), facts.size(), facts.language(), newlines, binary);
        }
    }
}
