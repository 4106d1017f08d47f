package io.keelson.spring;

import io.keelson.client.Json;
import io.keelson.client.worker.Effects;
import io.keelson.client.worker.ErrorClass;
import io.keelson.client.worker.StepContext;
import io.keelson.client.worker.StepFailure;
import io.keelson.client.worker.ToolSpec;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ReflectionUtils;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A method with {@link KeelsonTool} as a tool of the worker. */
final class BeanTool {
    private final ToolSpec spec;
    private final Method method;
    private final Supplier<Object> bean;
    /** Whether one parameter takes the whole input. */
    private final boolean whole;
    /** Schema of the input; null if any input fits. */
    private final @Nullable ObjectNode schema;

    /**
     * @param name the tool's name, its placeholders resolved
     * @param bean returns the object whose method it is
     * @throws IllegalStateException if the method cannot be a tool
     */
    BeanTool(String name, Method method, Supplier<Object> bean) {
        KeelsonTool tool = AnnotatedElementUtils.getMergedAnnotation(method, KeelsonTool.class);
        if (tool == null || tool.effects().length > 1) {
            throw new IllegalStateException(method + " has more than one of the effects");
        }
        this.method = method;
        this.bean = bean;
        List<Parameter> members = Stream.of(method.getParameters())
                .filter(each -> each.getType() != StepContext.class).toList();
        whole = members.size() == 1 && takesInput(members.get(0).getType());
        schema = whole ? objectSchema(members.get(0)) : members(members);
        Effects effects = tool.effects().length == 0 ? null : tool.effects()[0];
        ToolSpec described =
                new ToolSpec(name, tool.description().isBlank() ? null : tool.description(), schema, effects);
        spec = tool.gateway() ? described.withGateway() : described;
    }

    private static boolean takesInput(Class<?> type) {
        return type.isRecord() || Map.class.isAssignableFrom(type) || JsonNode.class.isAssignableFrom(type);
    }

    private static @Nullable ObjectNode objectSchema(Parameter parameter) {
        return parameter.getType().isRecord() ? InputSchema.of(parameter.getType()) : null;
    }

    private static ObjectNode members(List<Parameter> parameters) {
        InputSchema schema = InputSchema.object();
        for (Parameter each : parameters) {
            if (!each.isNamePresent()) {
                throw new IllegalStateException("the parameters of " + each.getDeclaringExecutable()
                        + " have no names in the class file: compile it with -parameters");
            }
            schema.member(each.getName(), each.getParameterizedType(), each, each.getAnnotatedType());
        }
        return schema.schema();
    }

    ToolSpec spec() {
        return spec;
    }

    /** Executes a step. */
    @Nullable Object handle(StepContext step) throws Exception {
        check(step.input());
        List<@Nullable Object> arguments = new ArrayList<>();
        for (Parameter each : method.getParameters()) {
            arguments.add(each.getType() == StepContext.class ? step : value(step.input(), each));
        }
        Object target = bean.get();
        try {
            Method invocable = AopUtils.selectInvocableMethod(method, target.getClass());
            ReflectionUtils.makeAccessible(invocable);
            return invocable.invoke(target, arguments.toArray());
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        }
    }

    /** Finds all missing and unknown members of an input. */
    private void check(JsonNode input) throws StepFailure {
        if (schema == null) {
            return;
        }
        List<String> problems = new ArrayList<>();
        JsonNode known = schema.path("properties");
        if (!input.isObject()) {
            problems.add("it is no object");
        }
        schema.path("required").valueStream().map(JsonNode::asString).filter(each -> !input.hasNonNull(each))
                .forEach(each -> problems.add("/" + each + " is missing"));
        input.propertyNames().stream().filter(each -> !known.has(each)).forEach(each -> problems
                .add("/" + each + " is unknown; known: " + String.join(", ", known.propertyNames())));
        if (!problems.isEmpty()) {
            throw invalid(String.join("; ", problems));
        }
    }

    private @Nullable Object value(JsonNode input, Parameter parameter) throws StepFailure {
        JsonNode value = whole ? input : input.path(parameter.getName());
        try {
            if (value.isMissingNode() || value.isNull()) {
                return parameter.getType() == Optional.class ? Optional.empty() : null;
            }
            return Json.to(value, parameter.getParameterizedType());
        } catch (IllegalArgumentException e) {
            throw invalid((whole ? "" : "/" + parameter.getName() + " is ") + e.getMessage());
        }
    }

    private StepFailure invalid(String problems) {
        return new StepFailure("INPUT_INVALID", ErrorClass.PERMANENT,
                "the input of " + spec.name() + " does not fit: " + problems);
    }
}
