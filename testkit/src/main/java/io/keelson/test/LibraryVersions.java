package io.keelson.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Properties;
import org.flywaydb.core.Flyway;
import tools.jackson.databind.cfg.PackageVersion;

/**
 * Versions of libraries that the server needs. A parent such as Spring Boot's chooses its own for the whole application, with which
 * the server fails at its start by an error of the JVM.
 */
final class LibraryVersions {

    private LibraryVersions() {}

    /** @throws IllegalStateException with both versions, if the class path has an older one than the server needs */
    static void check() {
        Properties needed = new Properties();
        try (InputStream file = LibraryVersions.class.getResourceAsStream("libraries.properties");
                InputStream flyway = Flyway.class.getResourceAsStream("internal/version.txt")) {
            needed.load(Objects.requireNonNull(file, "libraries.properties"));
            if (flyway != null) {
                compare("Flyway", "flyway.version", needed,
                        new String(flyway.readAllBytes(), StandardCharsets.UTF_8).strip());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        compare("Jackson", "jackson-bom.version", needed, PackageVersion.VERSION.toString());
    }

    static void compare(String library, String property, Properties needed, String found) {
        String least = needed.getProperty(property);
        if (number(found, 0) != number(least, 0) || number(found, 1) < number(least, 1)) {
            throw new IllegalStateException("keelson-test needs " + library + " " + least + ", and the class path has "
                    + found + ": set the property " + property + " to " + least + " in pom.xml, or the version of "
                    + library + " in the dependencyManagement");
        }
    }

    /** A number of a version by its place; 0 if absent. */
    private static int number(String version, int place) {
        String[] numbers = version.split("[.-]", -1);
        return place < numbers.length && numbers[place].matches("\\d{1,9}") ? Integer.parseInt(numbers[place]) : 0;
    }
}
