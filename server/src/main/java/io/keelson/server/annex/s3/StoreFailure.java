package io.keelson.server.annex.s3;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.Locale;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Texts of the SDK's exceptions, in one line and without secrets. */
final class StoreFailure {

    private static final int NOT_FOUND = 404;
    private static final int PRECONDITION_FAILED = 412;
    private static final int SERVER_ERRORS = 500;

    private StoreFailure() {}

    /** The exception for readers of a key; {@link NoSuchFileException} for an absent one. */
    static IOException of(SdkException failure, String key) {
        return missing(failure) ? new NoSuchFileException(key) : of(failure);
    }

    static IOException of(SdkException failure) {
        return new IOException(reason(failure), failure);
    }

    /** Whether the store has no object of the key. */
    static boolean missing(SdkException failure) {
        return failure instanceof S3Exception answer && answer.statusCode() == NOT_FOUND
                && !"NoSuchBucket".equals(code(answer));
    }

    /** Whether the request may have had its effect before: its answer was lost, and its repetition is refused. */
    static boolean repeated(SdkException failure) {
        return failure instanceof S3Exception answer
                && (answer.statusCode() == PRECONDITION_FAILED || "NoSuchUpload".equals(code(answer)));
    }

    /** Whether the store refused the request, which therefore had no effect: not at a lost answer, nor at an error of the store. */
    static boolean refused(SdkException failure) {
        return failure instanceof S3Exception answer && answer.statusCode() < SERVER_ERRORS && !repeated(failure);
    }

    /** The code of the store's answer; empty if it has none. */
    static String code(S3Exception answer) {
        return answer.awsErrorDetails() == null || answer.awsErrorDetails().errorCode() == null ? ""
                : answer.awsErrorDetails().errorCode();
    }

    static String reason(SdkException failure) {
        if (failure instanceof S3Exception answer) {
            String message = answer.awsErrorDetails() == null ? null : answer.awsErrorDetails().errorMessage();
            String code = code(answer);
            return String.format(Locale.ROOT, "the store responds with %d%s%s", answer.statusCode(),
                    code.isEmpty() ? "" : " " + code, message == null || message.isBlank() ? "" : ": " + line(message));
        }
        Throwable cause = failure;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        String name = cause.getClass().getSimpleName();
        String message = cause.getMessage();
        return message == null ? name : line(cause instanceof IOException ? name + ": " + message : message);
    }

    private static String line(String text) {
        return text.replaceAll("\\s+", " ").strip();
    }
}
