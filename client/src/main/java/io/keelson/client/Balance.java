package io.keelson.client;

import java.math.BigDecimal;

/**
 * The balance of a workspace in credits; 1 credit is 1 USD.
 *
 * @param available what runs may still reserve
 * @param reserved credits reserved by open attempts of runs, including what they were charged so far
 * @param spent what attempts that have ended were charged
 */
public record Balance(String workspaceId, BigDecimal available, BigDecimal reserved, BigDecimal spent) {}
