package io.keelson.test;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** Starts the server of a class, and creates the {@link TestKeelson} of each test. */
final class KeelsonExtension implements BeforeAllCallback, ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(KeelsonExtension.class);

    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        Map<String, String> settings = new LinkedHashMap<>();
        AnnotationSupport.findAnnotation(context.getRequiredTestClass(), KeelsonTest.class).ifPresent(annotation -> {
            for (String each : annotation.settings()) {
                String[] pair = each.split("=", 2);
                if (pair.length != 2) {
                    throw new IllegalArgumentException("a setting is NAME=value, not " + each);
                }
                settings.put(pair[0], pair[1]);
            }
        });
        context.getStore(NAMESPACE).put(KitServer.class, KitServer.start(settings));
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == TestKeelson.class && context.getTestMethod().isPresent();
    }

    @Override
    public TestKeelson resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Store store = context.getStore(NAMESPACE);
        KitServer server = Objects.requireNonNull(store.get(KitServer.class, KitServer.class));
        return store.computeIfAbsent(TestKeelson.class, any -> new TestKeelson(server, context.getDisplayName()),
                TestKeelson.class);
    }
}
