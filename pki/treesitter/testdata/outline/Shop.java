package com.example.shop;

import java.util.List;

/** A shop. */
@Entity
@Table(name = "shops")
public final class Shop<T extends Item> extends Base implements Sells, Buys {
    public static final int MAX = 10, MIN = 1;
    private List<T> items;

    /** Makes one. */
    public Shop(List<T> items) { this.items = items; }

    @Override
    public <R> R sell(T item, int count)
            throws SoldOut, IOException {
        int local = 1;
        class Receipt { void print() {} }
        return null;
    }

    interface Visitor { void visit(Shop<?> s); default int prio() { return 1; } }

    enum State { OPEN, CLOSED("x") { void act() {} }; State() {} State(String s) {} }

    record Point(int x, int y) { Point { } double len() { return 0; } }

    @interface Marker { String value() default ""; }
}
