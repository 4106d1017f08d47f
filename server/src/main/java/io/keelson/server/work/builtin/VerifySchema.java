package io.keelson.server.work.builtin;

import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.util.List;

/** {@code verify.json_schema}: whether an output fits a JSON Schema. */
final class VerifySchema implements Tool {

    private static final ToolSpec SPEC = VerifierAnswers.spec("verify.json_schema",
            "Judges whether an output fits a JSON Schema (2020-12, without references; patterns are RE2).", """
            {"type": "object", "additionalProperties": false, "required": ["output", "schema"], "properties": {
              "output": {"description": "what is judged"},
              "schema": {"type": ["object", "boolean"], "description": "the schema"}}}""");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure {
        DeclaredSchema schema = new DeclaredSchema(call.input().get("schema"));
        if (!schema.flaws().isEmpty()) {
            throw ToolFailure.permanent("INVALID_SCHEMA", shown(schema.flaws().getFirst()));
        }
        List<String> flaws = schema.check(call.input().get("output")).stream().map(VerifySchema::shown).toList();
        return flaws.isEmpty() ? VerifierAnswers.passed() : VerifierAnswers.rejected(call.redaction(), 0, flaws);
    }

    private static String shown(DeclaredSchema.Flaw flaw) {
        return (flaw.pointer().isEmpty() ? "the output" : flaw.pointer()) + ": " + flaw.message();
    }
}
