require "json"

LIMIT = 3

# The zoo.
module Zoo
  VERSION = "1"

  # An animal.
  class Animal < Base::Thing
    attr_reader :name

    def initialize(name, age: 1)
      @name = name
      local = 1
    end

    def self.create(*args) = new(*args)

    def loud? ; true end

    def ==(other)
      name == other.name
    end

    class << self
      def all; end
    end

    private

    def größe() 1 end
  end

  class Animal::Cat; end
  class Error < StandardError; end
  Point = Struct.new(:x, :y)
end

def top(x)
  [1].each do |y| y end
end

class Broken
  def fine; end
