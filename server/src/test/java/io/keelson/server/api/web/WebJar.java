package io.keelson.server.api.web;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** A package of the npm registry that is on the class path as a jar, for node. */
final class WebJar {

    private WebJar() {}

    /**
     * Copies the files of a package.
     *
     * @param name of the package
     * @param files a regular expression for their paths in the package
     * @return the folder that has them
     */
    static Path copy(String name, String files, Path folder) throws IOException {
        String place = "META-INF/resources/webjars/" + name + "/";
        URI found =
                URI.create(Objects.requireNonNull(WebJar.class.getClassLoader().getResource(place), place).toString());
        Path home = folder.resolve(name);
        try (JarFile jar = ((JarURLConnection) found.toURL().openConnection()).getJarFile()) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                if (entry.getName().startsWith(place) && !entry.isDirectory()) {
                    // The first folder is the version.
                    String path = entry.getName().substring(entry.getName().indexOf('/', place.length()) + 1);
                    if (path.matches(files)) {
                        Files.createDirectories(home.resolve(path).getParent());
                        try (InputStream bytes = jar.getInputStream(entry)) {
                            Files.copy(bytes, home.resolve(path));
                        }
                    }
                }
            }
        }
        return home;
    }
}
