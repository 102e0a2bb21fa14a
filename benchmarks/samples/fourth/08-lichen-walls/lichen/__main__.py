from lichen.command import main

main()
