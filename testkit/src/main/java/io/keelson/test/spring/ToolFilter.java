package io.keelson.test.spring;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.TypeExcludeFilter;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;

/** Excludes scanned beans without tools from a {@link KeelsonToolTest}. */
final class ToolFilter extends TypeExcludeFilter {
    private static final String TOOL = "io.keelson.spring.KeelsonTool";
    private static final String AGENT = "io.keelson.client.worker.AgentHandler";

    @Override
    public boolean match(MetadataReader reader, MetadataReaderFactory factory) throws IOException {
        AnnotationMetadata type = reader.getAnnotationMetadata();
        return !type.hasAnnotatedMethods(TOOL) && !List.of(type.getInterfaceNames()).contains(AGENT);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ToolFilter;
    }

    @Override
    public int hashCode() {
        return ToolFilter.class.hashCode();
    }
}
