package io.keelson.test.spring;

import io.keelson.test.TestKeelson;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * Connects the application of a test to a server with throwaway data and a clock that the test moves: the bean
 * {@link TestKeelson}, whose workspace is that of the context. Scripts and faults end with each test.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@Execution(ExecutionMode.SAME_THREAD)
@ImportAutoConfiguration
@ExtendWith({SpringExtension.class, AutoConfigureTestKeelson.Begin.class})
public @interface AutoConfigureTestKeelson {

    /** Begins each test without scripts and faults. */
    final class Begin implements BeforeEachCallback {
        @Override
        public void beforeEach(ExtensionContext context) {
            SpringExtension.getApplicationContext(context).getBean(TestKeelson.class).reset();
        }
    }
}
