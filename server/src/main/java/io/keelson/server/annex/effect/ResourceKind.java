package io.keelson.server.annex.effect;

/** Kinds of resources that commands make and end. */
enum ResourceKind {
    DEPLOYMENT("deployment", CommandTypes.DEPLOYMENT_CREATE), ORDER("order", CommandTypes.ORDER_PLACE);

    private final String word;
    private final String madeBy;

    ResourceKind(String word, String madeBy) {
        this.word = word;
        this.madeBy = madeBy;
    }

    /** Its name in documents. */
    public String word() {
        return word;
    }

    /** The type of the command that makes one; the resource has the command's id. */
    public String madeBy() {
        return madeBy;
    }
}
