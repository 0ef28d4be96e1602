package com.example

import scala.util.Try

/** A model. */
@deprecated("x", "1")
case class Model[T](name: String, age: Int = 1) extends Base with Serializable {
  val size: Int = 1
  var count = 0
  lazy val deep = 2
  type Out = List[T]
  def this(n: String) = this(n, 1)

  /** Runs. */
  override def run(x: Int)(implicit ec: Context): Try[Int] = {
    val local = 1
    def inner(y: Int) = y
    Try(inner(x))
  }
  def abstractOne: Int
}

object Model {
  val Max = 3
  def apply(n: String): Model[Int] = new Model(n)
  implicit class Ops(x: Int) { def twice = x * 2 }
}

sealed trait Shape { def area: Double }
abstract class Animal
object Main extends App
