package io.keelson.server.work.builtin;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.keelson.core.policy.Effects;
import io.keelson.server.base.json.TimedText;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolPolicy;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.time.Duration;
import tools.jackson.databind.JsonNode;

/**
 * {@code files.search}: a regular expression over the lines of text files. Totals are exact, also when not all matches
 * are returned: {@code matching_lines} as {@code grep -c}, {@code total_matches} as {@code grep -o}.
 */
final class FilesSearch implements Tool {

    private static final ToolSpec SPEC = Specs.spec("files.search", Effects.READ,
            "Searches the lines of text files for a regular expression (RE2). Totals count every match.",
            Duration.ofSeconds(120), """
            {"type": "object", "additionalProperties": false, "required": ["pattern"], "properties": {
              "pattern": {"type": "string", "minLength": 1, "maxLength": 1000},
              "literal": {"type": "boolean", "default": false, "description": "take the pattern as plain text"},
              "ignore_case": {"type": "boolean", "default": false},
              "path": {"type": "string", "default": "."},
              "recursive": {"type": "boolean", "default": true},
              "max_depth": {"type": "integer", "minimum": 1, "maximum": 100, "default": 64},
              "glob": {"$ref": "#/$defs/globs"},
              "exclude": {"$ref": "#/$defs/globs", "default": [".git"]},
              "max_matches": {"type": "integer", "minimum": 0, "maximum": 10000, "default": 500},
              "max_file_bytes": {"type": "integer", "minimum": 1, "maximum": 67108864, "default": 16777216}},
             "$defs": {"glob": {"type": "string", "maxLength": 1000},
                       "globs": {"oneOf": [{"$ref": "#/$defs/glob"},
                                           {"type": "array", "items": {"$ref": "#/$defs/glob"}, "maxItems": 100}]}}}""", """
            {"type": "object", "required": ["matches", "truncated", "total_matches", "matching_lines", "matching_files",
                                            "files_searched", "files_skipped", "by_text"], "properties": {
              "matches": {"type": "array", "items": {"type": "object", "required": ["path", "line", "column", "text"]}},
              "truncated": {"type": "boolean"}, "total_matches": {"type": "integer"},
              "matching_lines": {"type": "integer"}, "matching_files": {"type": "integer"},
              "files_searched": {"type": "integer"}, "files_skipped": {"type": "integer"},
              "by_text": {"type": "array", "items": {"type": "object", "required": ["text", "count"]}}}}""");

    private final ToolPolicy policy;

    FilesSearch(ToolPolicy policy) {
        this.policy = policy;
    }

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure, InterruptedException {
        JsonNode input = call.input();
        FileSearch search = new FileSearch(pattern(input), Glob.all(input.path("glob")),
                input.path("max_matches").asInt(500), input.path("max_file_bytes").asLong(16L << 20));
        FileWalk walk = new FileWalk(input.path("recursive").asBoolean(true), input.path("max_depth").asInt(64),
                FilesList.excluded(input));
        try {
            walk.visit(AllowedFolders.of(policy, call).locate(input.path("path").asString(".")), search);
        } catch (TimedText.StoppedException e) {
            if (Thread.interrupted()) {
                throw new InterruptedException(e.getMessage());
            }
            throw ToolFailure.permanent("PATTERN_TIMEOUT", e.getMessage() + " in one line");
        }
        return ToolResult.of(search.toJson());
    }

    private static Pattern pattern(JsonNode input) throws ToolFailure {
        String text = input.get("pattern").stringValue();
        int flags = input.path("ignore_case").asBoolean(false) ? Pattern.CASE_INSENSITIVE : 0;
        try {
            return Pattern.compile(input.path("literal").asBoolean(false) ? Pattern.quote(text) : text, flags);
        } catch (PatternSyntaxException e) {
            throw ToolFailure.permanent("PATTERN_INVALID",
                    e.getMessage() + " (RE2: no look-around, no back references)");
        }
    }
}
