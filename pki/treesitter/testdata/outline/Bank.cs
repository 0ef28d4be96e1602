using System;

namespace Example.Banking
{
    /// <summary>An account.</summary>
    [Serializable]
    public abstract partial class Account<T> : Base, IAccount where T : new()
    {
        public const int Max = 3;
        private readonly decimal _balance, _limit;
        public decimal Balance { get; private set; } = 0;
        public event EventHandler Changed;
        public Account(decimal b) : base(b) { _balance = b; }
        ~Account() { }
        public virtual async Task<int> Pay<U>(U to, decimal amount = 1) where U : class
        {
            int local = 1;
            int Inner(int x) => x;
            return Inner(local);
        }
        public int Quick() => 1;
        public static Account<T> operator +(Account<T> a, Account<T> b) => a;
        public int this[int i] => i;
        public enum State { Open, Closed = 2 }
        private struct Entry { public int X; }
    }

    public interface IAccount { void Close(); string Name { get; } }
    public record Person(string Name, int Age);
    public delegate int Compare(object a, object b);
}
