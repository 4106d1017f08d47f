package io.keelson;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Sets Awaitility's default timeout to a minute, because a starved machine is slow, not wrong. JUnit finds this class by
 * {@code META-INF/services}.
 */
public final class AwaitilityDefaults implements Extension, BeforeAllCallback {
    @Override
    public void beforeAll(ExtensionContext context) {
        Awaitility.setDefaultTimeout(Duration.ofMinutes(1));
    }
}
