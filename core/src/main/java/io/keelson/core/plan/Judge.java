package io.keelson.core.plan;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * A model that judges a task's output.
 *
 * @param model its name
 * @param skipBelow credits: the output of a task that has cost less is not judged; null: each is
 */
public record Judge(String model, @Nullable BigDecimal skipBelow) {}
