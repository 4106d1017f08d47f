package io.keelson.api.money;

import io.keelson.api.Shape.Id;
import java.math.BigDecimal;

/**
 * The balance of a workspace in credits; 1 credit is 1 USD.
 *
 * @param workspaceId id of the workspace
 * @param available credits that runs may still reserve
 * @param reserved credits reserved by open attempts of runs, including their charges so far
 * @param spent charges of ended attempts
 */
public record Balance(@Id String workspaceId, BigDecimal available, BigDecimal reserved, BigDecimal spent) {}
