package io.keelson.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A class of tests with a server in this process: throwaway data on the embedded database, and a clock that the tests move. A
 * test or a method with {@code @BeforeEach} takes a parameter {@link TestKeelson}, which has a workspace of this test. Tests of
 * one class are executed one after another, because they have one clock.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Execution(ExecutionMode.SAME_THREAD)
@ExtendWith(KeelsonExtension.class)
public @interface KeelsonTest {

    /** Settings of the server, such as {@code KEELSON_LEASE_SECONDS=60}. */
    String[] settings() default {};
}
