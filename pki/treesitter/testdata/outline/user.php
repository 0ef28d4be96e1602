<?php
namespace App\Models;

use Foo\Bar;

const LIMIT = 3;
define('OTHER', 1);

/**
 * A user.
 */
#[Entity]
final class User extends Model implements HasName
{
    use SoftDeletes;
    public const ADMIN = 1, GUEST = 2;
    protected ?string $name = null;
    public static int $count, $more;

    public function __construct(private string $id, int $x = 1) {}

    /** Its name. */
    public function name(string $prefix = ""): ?string
    {
        $local = 1;
        $f = function ($x) { return $x; };
        return $this->name;
    }

    abstract protected static function make(array $a): static;
}

interface HasName { public function name(string $prefix): ?string; }
trait SoftDeletes { public function gone(): bool { return false; } }
enum Suit: string { case Hearts = 'H'; case Spades = 'S'; public function label(): string { return ''; } }

function helper(int ...$n): int { function nested() {} return 1; }
