package io.keelson.server.work.builtin;

import com.samskivert.mustache.Mustache;
import com.samskivert.mustache.MustacheException;
import io.keelson.core.policy.Effects;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.NumberText;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.io.Writer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/** {@code text.template}: Mustache over JSON data. Sees nothing but the data: no partials, no methods of objects. */
final class TextTemplate implements Tool {

    private static final ToolSpec SPEC = Specs.spec("text.template", Effects.READ,
            "Renders a Mustache template. The output is the text.", """
            {"type": "object", "additionalProperties": false, "required": ["template"], "properties": {
              "template": {"type": "string"},
              "data": {"description": "what names in the template refer to", "default": {}},
              "escape": {"enum": ["none", "html"], "default": "none",
                         "description": "how {{name}} is escaped; {{{name}}} never is"}}}""",
            "{\"type\": \"string\"}");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure, InterruptedException {
        BoundedRendering bounds = new BoundedRendering(ToolCatalog.MAX_OUTPUT_CHARS);
        Mustache.Compiler compiler = Mustache.compiler()
                .escapeHTML(call.input().path("escape").asString("none").equals("html"))
                .defaultValue("")
                .withCollector(bounds.collector())
                .withFormatter(TextTemplate::format)
                .withLoader(name -> {
                    throw new MustacheException("partials are not available: " + name);
                });
        Object data = plain(call.input().path("data"));
        Writer text = bounds.writer();
        try {
            compiler.compile(call.input().get("template").stringValue()).execute(data == null ? Map.of() : data, text);
        } catch (BoundedRendering.Ended e) {
            if (Thread.interrupted()) {
                throw new InterruptedException("the rendering was interrupted");
            }
            throw ToolFailure.permanent("OUTPUT_TOO_LARGE", String.valueOf(e.getMessage()));
        } catch (MustacheException | StackOverflowError e) {
            throw ToolFailure.permanent("TEMPLATE_INVALID", String.valueOf(e.getMessage()));
        }
        return ToolResult.of(StringNode.valueOf(text.toString()));
    }

    private static String format(Object value) {
        return value instanceof Map || value instanceof List
                ? Json.MAPPER.writeValueAsString(value)
                : value instanceof Number number ? NumberText.of(number) : String.valueOf(value);
    }

    private static @Nullable Object plain(JsonNode node) {
        return switch (node.getNodeType()) {
            case OBJECT -> {
                Map<String, @Nullable Object> map = new LinkedHashMap<>();
                node.properties().forEach(each -> map.put(each.getKey(), plain(each.getValue())));
                yield map;
            }
            case ARRAY -> {
                List<@Nullable Object> list = new ArrayList<>();
                node.forEach(each -> list.add(plain(each)));
                yield list;
            }
            case BOOLEAN -> node.booleanValue();
            case NUMBER -> node.numberValue();
            case NULL, MISSING -> null;
            case STRING, BINARY, POJO -> node.asString();
        };
    }
}
