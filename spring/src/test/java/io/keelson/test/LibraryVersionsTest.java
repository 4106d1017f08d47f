package io.keelson.test;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Properties;
import org.junit.jupiter.api.Test;

/** Versions that an application of Spring Boot brings to the test kit. */
class LibraryVersionsTest {

    private static void compare(String found) {
        Properties needed = new Properties();
        needed.setProperty("flyway.version", "13.12.0");
        LibraryVersions.compare("Flyway", "flyway.version", needed, found);
    }

    @Test
    void olderVersionIsNamedWithTheNeededOneAndItsProperty() {
        assertThatThrownBy(() -> compare("11.14.1")).isInstanceOf(IllegalStateException.class)
                .hasMessage("keelson-test needs Flyway 13.12.0, and the class path has 11.14.1: set the property"
                        + " flyway.version to 13.12.0 in pom.xml, or the version of Flyway in the dependencyManagement");
        assertThatThrownBy(() -> compare("13.11.9")).hasMessageContaining("13.11.9");
        assertThatThrownBy(() -> compare("14.0.0")).hasMessageContaining("14.0.0");
    }

    @Test
    void equalAndNewerVersionsAreAccepted() {
        assertThatCode(() -> {
            compare("13.12.0");
            compare("13.13.1");
            LibraryVersions.check();
        }).doesNotThrowAnyException();
    }
}
