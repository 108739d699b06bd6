# A relocatable prefix: the binary, the libraries, the headers, the inputs, and find_package(tessera).
