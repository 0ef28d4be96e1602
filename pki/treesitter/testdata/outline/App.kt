package com.example

import kotlin.math.PI

const val MAX = 3
val names: List<String> = listOf()
var counter = 0

/** A shape. */
sealed interface Shape { val area: Double; fun draw(c: Canvas) }

@Serializable
data class Circle<T : Number>(val r: T, private var name: String = "c") : Shape, Base() {
    override val area: Double get() = PI
    lateinit var owner: Owner

    constructor(x: Int) : this(x, "a")

    init { println("x") }

    /** Draws. */
    override fun draw(c: Canvas) {
        val local = 1
        fun inner(x: Int) = x
    }

    companion object {
        const val ZERO = 0
        fun of(x: Int): Circle<Int> = Circle(x)
    }

    enum class State { OPEN, CLOSED; fun next() = OPEN }
    inner class Deep { fun größe() = 1 }
}

object Registry { fun register() {} }

fun <T> List<T>.second(): T = this[1]

suspend fun main(args: Array<String>) { }

typealias Names = List<String>
annotation class Marker(val x: Int)
fun interface Runner { fun run() }
