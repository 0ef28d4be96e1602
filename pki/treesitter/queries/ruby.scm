(method name: (_) @name) @definition.function
(singleton_method object: (_) @receiver name: (_) @name) @definition.method
(class name: (_) @name) @definition.class
(module name: (_) @name) @definition.module
(alias name: (_) @name) @definition.function
(assignment left: (constant) @name) @definition.constant
(do_block) @local
