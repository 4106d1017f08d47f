package io.keelson.spring;

import io.keelson.client.worker.Effects;
import io.keelson.client.worker.StepContext;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method of a bean that executes the steps of a tool. Its parameters are the members of the step's input by name, or one
 * record, map or JSON value is the whole input; a {@link StepContext} may be among them. Its return value is the step's output.
 * Called by many threads at once.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface KeelsonTool {

    /** The tool's name, such as {@code mail.send}; may have placeholders of Spring. */
    String value();

    /** One sentence for people and models of agents; empty if absent. */
    String description() default "";

    /** Effects of a call outside the run; an empty list if they are not announced. At most one. */
    Effects[] effects() default {};

    /** Whether a step of the tool may use the server's gateway to models. */
    boolean gateway() default false;
}
