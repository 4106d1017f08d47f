package io.keelson.server.api.http.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.engine.commit.Commands;
import java.io.IOException;
import java.sql.SQLException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Responses to internal errors. */
class ExceptionMapperTest {

    static Stream<Arguments> failures() {
        return Stream.of(
                Arguments.of(new Commands.Overloaded(), 503, "OVERLOADED"),
                Arguments.of(new CompletionException(new Commands.Overloaded()), 503, "OVERLOADED"),
                Arguments.of(new SqlFailure(new SQLException("secret", "08006")), 503, "DATABASE_UNAVAILABLE"),
                Arguments.of(new SqlFailure(new SQLException("secret", "57P01")), 503, "DATABASE_UNAVAILABLE"),
                Arguments.of(new SqlFailure(new SQLException("secret", "53300")), 503, "DATABASE_UNAVAILABLE"),
                Arguments.of(new SqlFailure(new SQLException("secret", "53100")), 503, "DATABASE_FULL"),
                Arguments.of(new CompletionException(new SQLException("secret", "25006")), 503, "DATABASE_READ_ONLY"),
                Arguments.of(new CompletionException(new SQLException("secret", "08001")), 503,
                        "DATABASE_UNAVAILABLE"),
                Arguments.of(new CompletionException(new TimeoutException()), 503, "DATABASE_UNAVAILABLE"),
                Arguments.of(new SqlFailure(new SQLException("secret", "42P01")), 500, "INTERNAL_ERROR"),
                Arguments.of(new IllegalStateException("secret"), 500, "INTERNAL_ERROR"),
                Arguments.of(new StackOverflowError("secret"), 500, "INTERNAL_ERROR"),
                Arguments.of(new InterruptedException("secret"), 503, "NOT_READY"),
                Arguments.of(new IOException("secret", new TimeoutException()), 408, "REQUEST_TIMEOUT"));
    }

    @ParameterizedTest
    @MethodSource
    void failures(Throwable failure, int status, String code) {
        ApiProblem problem = ExceptionMapper.refusal(failure, "GET /runs");

        assertThat(problem.document().get("status").intValue()).isEqualTo(status);
        assertThat(problem.document().get("code").stringValue()).isEqualTo(code);
        assertThat(problem.headers().containsKey("Retry-After")).isEqualTo(status == 503);
        assertThat(problem.document().toString()).doesNotContain("secret").doesNotContain("Exception");
    }
}
