package io.keelson.api.money;

import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Text;
import java.math.BigDecimal;

/**
 * Moves credits from one account to another.
 *
 * @param amount credits to move
 * @param debitAccount where they are taken
 * @param creditAccount where they go; another account
 * @param reason reason of the adjustment
 */
@Request
public record Adjustment(@Ref("PositiveAmount") BigDecimal amount,
        @OneOf({"funding", "available", "spent"}) String debitAccount,
        @OneOf({"funding", "available", "spent"}) String creditAccount,
        @Text(pattern = "\\S", max = 2000) String reason) {}
