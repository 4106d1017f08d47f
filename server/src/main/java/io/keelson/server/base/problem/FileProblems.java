package io.keelson.server.base.problem;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.Objects;

/** Why a file cannot be read or written, in words. */
public final class FileProblems {

    private FileProblems() {}

    /** The JDK's messages of most of these are only the file's name. */
    public static String reason(IOException e) {
        return switch (e) {
            case CharacterCodingException _ -> "it is not UTF-8 text";
            case AccessDeniedException _ -> "permission denied";
            case NoSuchFileException missing -> "there is no " + missing.getFile();
            case FileAlreadyExistsException other -> other.getFile() + " is a file, not a folder";
            case NotDirectoryException other -> other.getFile() + " is no folder";
            case FileSystemException system ->
                Objects.requireNonNullElse(system.getReason(), system.getClass().getSimpleName());
            default -> Objects.requireNonNullElse(e.getMessage(), e.getClass().getSimpleName());
        };
    }
}
