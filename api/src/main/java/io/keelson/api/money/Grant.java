package io.keelson.api.money;

import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Text;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * Grants credits to a workspace.
 *
 * @param amount credits to grant
 * @param reason stored with the entry
 */
@Request
public record Grant(@Ref("PositiveAmount") BigDecimal amount, @Nullable @Text(max = 2000) String reason) {}
