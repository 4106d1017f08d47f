package io.keelson.server.engine.tool;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Files and folders that no tool reads, also where they lie below an allowed folder: the server's own data and keys, the
 * kernel's file systems, and the secrets that a container is given.
 */
public final class RefusedPlaces {

    private static final List<Path> OF_THE_SYSTEM = List.of(Path.of("/proc"), Path.of("/sys"), Path.of("/dev"),
            Path.of("/run/secrets"), Path.of("/var/run/secrets"));

    private final List<Path> places;

    /** @param own the server's private paths: absolute; need not exist */
    public RefusedPlaces(List<Path> own) {
        List<Path> all = new ArrayList<>(OF_THE_SYSTEM);
        own.forEach(each -> all.add(each.toAbsolutePath().normalize()));
        places = List.copyOf(all);
    }

    /** How the places are now. A place is known by its paths and, if it is reached by another path, by its file key. */
    public Look look() {
        Set<Path> paths = new HashSet<>(places);
        Set<Object> keys = new HashSet<>();
        for (Path place : places) {
            try {
                paths.add(place.toRealPath());
                Object key = Files.readAttributes(place, BasicFileAttributes.class).fileKey();
                if (key != null) {
                    keys.add(key);
                }
            } catch (IOException e) {
                // a place that is not there, or that this process cannot reach, is known by its path alone
            }
        }
        return new Look(Set.copyOf(paths), Set.copyOf(keys));
    }

    /** @param keys file keys of the places themselves, not of files below them */
    public record Look(Set<Path> paths, Set<Object> keys) {

        /** @param path absolute and normal, or real */
        public boolean covers(Path path) {
            return paths.stream().anyMatch(path::startsWith);
        }

        /** Whether the file or folder with these attributes is one of the places. */
        public boolean is(BasicFileAttributes attributes) {
            @Nullable Object key = attributes.fileKey();
            return key != null && keys.contains(key);
        }
    }
}
