package io.keelson.server.base.artifact;

/**
 * Headers of the store's response to a link.
 *
 * @param disposition value of {@code Content-Disposition}
 * @param contentType media type
 */
public record ContentLink(String disposition, String contentType) {}
