package io.keelson.server.base.expr;

/** Text whose reading counts against the current {@link EvaluationBudget}, so that long matches end with it. */
record BudgetedText(String text, EvaluationBudget budget) implements CharSequence {

    @Override
    public int length() {
        return text.length();
    }

    @Override
    public char charAt(int index) {
        budget.step();
        return text.charAt(index);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
        return text.substring(start, end);
    }

    @Override
    public String toString() {
        return text;
    }
}
