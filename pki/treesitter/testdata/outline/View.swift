import Foundation

let maxCount = 3
var current: Int = 0

/// A view.
@MainActor
public final class View<T>: Base, Drawable {
    static let shared = View()
    private var items: [T] = []
    var area: Double { return 1 }
    weak var owner: Owner?

    init(items: [T]) { self.items = items }
    deinit {}

    /// Draws it.
    public func draw(in ctx: Context, with scale: Double = 1) throws -> Bool {
        let local = 1
        func inner(_ x: Int) -> Int { return x }
        return true
    }

    subscript(i: Int) -> T { return items[i] }

    struct Part { let x: Int }
    enum State: String { case open, closed; case other(Int) }
}

protocol Drawable { var area: Double { get }; func draw(in ctx: Context) throws -> Bool; associatedtype Out }

extension View where T: Equatable { func größe() -> Int { 1 } }

struct Point { var x, y: Int; mutating func move() {} }

func top<T>(_ x: T) -> T { return x }

typealias Names = [String]

actor Counter { func add() {} }
