package io.keelson.test.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTestContextBootstrapper;
import org.springframework.boot.test.context.filter.annotation.TypeExcludeFilters;
import org.springframework.test.context.BootstrapWith;

/**
 * A test of the application's tools in missions: its context has the beans with {@code @KeelsonTool} methods, the worker, and a
 * {@link io.keelson.test.TestKeelson}, and nothing else of the application. {@code @Import} and {@code @MockitoBean} add the
 * beans that the tools need.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@BootstrapWith(SpringBootTestContextBootstrapper.class)
@OverrideAutoConfiguration(enabled = false)
@TypeExcludeFilters(ToolFilter.class)
@ImportAutoConfiguration
@AutoConfigureTestKeelson
public @interface KeelsonToolTest {}
